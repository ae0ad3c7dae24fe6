/** Runs work when there is room, in the order in which it came. */
export type ScrapeLane = (work: () => Promise<void>) => Promise<void>;

/** A lane on which at most `most` scrapes are under way. */
export function createScrapeLane(most: number): ScrapeLane {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  return async (work) => {
    if (underWay >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay += 1;
    try {
      await work();
    } finally {
      // Room goes on to the next one, or is free.
      const next = waiting.shift();
      if (next === undefined) underWay -= 1;
      else next();
    }
  };
}
