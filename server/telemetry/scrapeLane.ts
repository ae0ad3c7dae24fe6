/** Runs work when there is room, in order of arrival. */
export type ScrapeLane = (work: () => Promise<void>) => Promise<void>;

/** A lane with at most `most` concurrent scrapes. */
export function createScrapeLane(most: number): ScrapeLane {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  return async (work) => {
    if (underWay >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else underWay += 1;
    try {
      await work();
    } finally {
      // The slot goes to the next one, or becomes free.
      const next = waiting.shift();
      if (next === undefined) underWay -= 1;
      else next();
    }
  };
}
