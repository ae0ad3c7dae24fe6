import type { ProfileJob } from "@/server/contracts/studio";
import type { PanelStatus } from "../ui/PanelState";

/** Why a profile has no answers to label, and what to do; false where it has some, or will have. */
export function noAnswers(
  job: Pick<ProfileJob, "hasAnswers" | "request" | "state" | "total">,
): Extract<PanelStatus, { kind: "empty" }> | false {
  if (!job.request.keepAnswers) {
    return {
      kind: "empty",
      title: "This profile stored no answers",
      text: "Answers were deleted once they were judged, as chosen at the start. To label by hand, profile the sample again with “keep answers”: a few hundred prompts are enough.",
    };
  }
  if (job.hasAnswers) return false;
  if (job.total.done === 0) {
    return { kind: "empty", title: "No answers yet", text: "Labelling can begin as soon as the first models have answered." };
  }
  return {
    kind: "empty",
    title: "The answers are deleted",
    text: "Their texts were deleted with the sample's prompts, by retention or by hand. Labels and their results stay.",
  };
}
