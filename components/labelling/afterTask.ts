import type { LabelProgress } from "@/server/contracts/studio";

/** What there is to label once the task at hand is labelled or skipped, before the studio has answered. */
export const afterTask = (progress: LabelProgress, done: "labelled" | "skipped"): LabelProgress =>
  progress.task === null ? progress : { ...progress, task: progress.after, after: null, [done]: progress[done] + 1 };
