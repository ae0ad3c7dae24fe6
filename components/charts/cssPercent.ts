/** A share of a whole as a CSS length: 0.25 is `25%`. Numbers that a reader sees are made by `ui/format`. */
export const cssPercent = (share: number): string => `${share * 100}%`;
