// Figures with as many decimals as were measured.

/** A figure to three decimals: sums and quotients of such figures have sixteen of them. */
export const rounded = (figure: number): number => Math.round(figure * 1000) / 1000;
