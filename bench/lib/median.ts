/** The middle value; of an even count the upper of the two in the middle. NaN for no values. */
export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
