// `etl completion <shell>`: prints a script for tab completion.

import { command } from '../command.ts';
import { bashScript, zshScript } from '../completion-scripts.ts';
import { argumentOf } from '../inputs.ts';

export const completionCommand = command({
  name: 'completion',
  summary: 'print a script for tab completion',
  description: 'Prints a script that completes commands, flags and pipeline files in the shell.',
  takes: { shell: argumentOf('<shell>', 'the shell', ['bash', 'zsh', 'fish', 'powershell']) },
  help: `
The script calls \`etl\` whenever the tab key is pressed, so \`etl\` must be on the PATH.

Examples:
  $ etl completion bash >> ~/.bashrc
  $ etl completion zsh > ~/.zfunc/_etl
  $ etl completion fish > ~/.config/fish/completions/etl.fish
  PS> etl completion powershell >> $PROFILE`,
  async act({ io, shell }) {
    if (shell === 'bash' || shell === 'zsh') {
      io.stdout.write(shell === 'bash' ? bashScript : zshScript);
      return;
    }
    const { script } = await import('@bomb.sh/tab');
    script(shell, 'etl', 'etl');
  },
});
