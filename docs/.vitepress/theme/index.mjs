// The theme of VitePress with the fonts of the reader's machine: nothing to load, nothing that moves.

import theme from 'vitepress/theme-without-fonts';
import './style.css';

export default theme;
