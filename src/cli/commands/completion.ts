// `etl completion <shell>`: prints the script that makes the shell complete commands, flags and files.

import { Argument } from 'commander';
import { bashScript } from '../bash-completion.ts';
import type { CliCommand } from '../command.ts';
import { zshScript } from './zsh-completion.ts';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

const examples = `
The script calls \`etl\` whenever the tab key is pressed, so \`etl\` must be on the PATH.

Examples:
  $ etl completion bash >> ~/.bashrc
  $ etl completion zsh > ~/.zfunc/_etl
  $ etl completion fish > ~/.config/fish/completions/etl.fish
  PS> etl completion powershell >> $PROFILE`;

export const completionCommand: CliCommand = {
  name: 'completion',
  register(program, { stdout }) {
    program
      .command('completion')
      .summary('print a script for tab completion')
      .description('Prints a script that completes commands, flags and pipeline files in the shell.')
      .addArgument(new Argument('<shell>', 'the shell').choices(shells))
      .addHelpText('after', examples)
      .action(async (shell: (typeof shells)[number]) => {
        if (shell === 'bash' || shell === 'zsh') {
          stdout.write(shell === 'bash' ? bashScript : zshScript);
          return;
        }
        const { script } = await import('@bomb.sh/tab');
        script(shell, 'etl', 'etl');
      });
  },
};
