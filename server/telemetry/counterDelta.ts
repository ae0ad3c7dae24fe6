/** Growth of a counter between two scrapes. A counter that fell was reset by a restart: all it shows grew since. */
export const counterDelta = (before: number, after: number): number => (after >= before ? after - before : after);
