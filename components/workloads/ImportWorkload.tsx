"use client";

import { useRouter } from "next/navigation";
import { ClusterLink } from "../shell/ClusterLink";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { Modal } from "../ui/Modal";
import { LinesImport } from "./LinesImport";
import { OutcomesImport } from "./OutcomesImport";
import type { BringStep } from "./workloadsCodec";

const texts: Readonly<Record<BringStep, { readonly title: string; readonly description: string }>> = {
  choose: {
    title: "Import a workload",
    description: "A plan needs prompts and, for each model, the lengths and quality of its answers. Which of these do you have?",
  },
  outcomes: {
    title: "Answers already measured",
    description:
      "A table of what each model answered to each prompt becomes a workload that plans are made on. Prompts and answers themselves are not stored.",
  },
  lines: {
    title: "A Weir workload",
    description: "A workload that was exported from this studio or another one. It keeps its name and hash, so its plans are recognised.",
  },
};

const choice =
  "flex flex-col items-start gap-0.5 rounded-md border border-line-strong bg-raised p-3 text-left text-ink no-underline hover:bg-sunken";

/** Ways to add a workload: prompts to be answered, measured answers, or an exported workload. */
export function ImportWorkload({ step, onStep }: { readonly step: BringStep; readonly onStep: (step: BringStep | null) => void }) {
  const router = useRouter();
  const link = useClusterLink();
  const done = (id: string) => {
    // Closed in the address first, so that the browser's Back does not open it again.
    onStep(null);
    router.push(link(`/workloads/${id}`));
  };
  return (
    <Modal open onOpenChange={(open) => !open && onStep(null)} {...texts[step]}>
      {step === "choose" && (
        <div className="flex flex-col gap-2">
          <ClusterLink to="/workloads/prompts?upload=1" className={choice}>
            <span className="text-sm font-medium">Prompts to be answered</span>
            <span className="text-sm text-ink-2">
              Your own prompts, as JSONL or CSV. Your models answer a sample of them, and judges score the answers.
            </span>
          </ClusterLink>
          <button type="button" className={choice} onClick={() => onStep("outcomes")}>
            <span className="text-sm font-medium">Answers already measured</span>
            <span className="text-sm text-ink-2">A CSV table with a score and lengths for each prompt and model.</span>
          </button>
          <button type="button" className={choice} onClick={() => onStep("lines")}>
            <span className="text-sm font-medium">A Weir workload</span>
            <span className="text-sm text-ink-2">A JSONL file that a studio exported.</span>
          </button>
        </div>
      )}
      {step === "outcomes" && <OutcomesImport onDone={done} />}
      {step === "lines" && <LinesImport onDone={done} />}
      {step !== "choose" && (
        <Button look="quiet" className="self-start" onClick={() => onStep("choose")}>
          Back to the choice
        </Button>
      )}
    </Modal>
  );
}
