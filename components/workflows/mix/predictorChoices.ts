import { shortHash } from "@/components/ui/format";
import type { DeclaredWorkflow } from "@/server/contracts/studio";

/** A workflow's predictors to choose from, newest first, and the choice of none. */
export const predictorChoices = ({ predictors }: Pick<DeclaredWorkflow, "predictors">) => [
  ...predictors.map(({ hash, version, workloadName }) => ({ value: hash, text: `v${version} of ${workloadName}, ${shortHash(hash)}` })),
  { value: "", text: "none: one planned configuration for all programs" },
];
