import type { LabelProgress } from "@/server/contracts/studio";

/** Whether figures of measures beside the task could sway whoever labels it: until as many are labelled as advised, or nothing is left. */
export const mayBiasLabels = ({ task, labelled, advised }: LabelProgress): boolean => task !== null && labelled < advised;
