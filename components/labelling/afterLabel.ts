import type { LabelProgress } from "@/server/contracts/studio";

/** What there is to label once the task at hand has its label, before the studio has answered. */
export const afterLabel = (progress: LabelProgress): LabelProgress =>
  progress.task === null ? progress : { ...progress, task: progress.after, after: null, labelled: progress.labelled + 1 };
