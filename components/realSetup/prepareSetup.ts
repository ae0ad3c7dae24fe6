import type { RealSetup, RealSetupStep, RealSetupStepName } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { formatCount, formatSeconds } from "../ui/format";

const titles: Readonly<Record<RealSetupStepName, string>> = {
  engine: "Install the engine",
  models: "Write the models' files",
  cluster: "Attach this computer",
  start: "Start both engines and the judge",
  quality: "Measure quality",
  speed: "Measure speed",
};

const words: Readonly<Record<RealSetupStep["state"], { readonly word: string; readonly tone: Tone }>> = {
  waiting: { word: "waits", tone: "neutral" },
  running: { word: "running", tone: "accent" },
  done: { word: "done", tone: "good" },
  failed: { word: "failed", tone: "bad" },
  stopped: { word: "stopped", tone: "neutral" },
};

const MEGABYTE = 1e6;

export interface PreparedStep {
  readonly name: RealSetupStepName;
  readonly title: string;
  readonly word: string;
  readonly tone: Tone;
  readonly says: string;
  /** `3.2 s`; empty before it begins. */
  readonly seconds: string;
  readonly progress: number | null;
}

/** What the set-up of real models shows. */
export interface PreparedSetup {
  /** What the button that starts it reads; null: it cannot be started now. */
  readonly start: string | null;
  readonly steps: readonly PreparedStep[];
  /** How much is done, for screen readers: `2 of 6 steps are done`. */
  readonly summary: string;
  /** Address of the Plan page with the cluster and the workload; null until it is ready. */
  readonly planPath: `/plan?${string}` | null;
  /** What it takes, before it is begun. */
  readonly takes: string;
  /** Which engine profile its measured speeds replace, where it can be started; empty: none. */
  readonly replaces: string;
  /** What is left to do once it is ready; empty: it is not. */
  readonly ready: string;
  /** What ends and what stays when it is removed. */
  readonly consequences: string;
}

export function prepareSetup(setup: RealSetup): PreparedSetup {
  const { state, steps, engineBytes, replaces, restores } = setup;
  const done = steps.filter((step) => step.state === "done").length;
  const start = state === "absent" ? "Set up real models" : state === "failed" || state === "stopped" ? "Continue" : null;
  const path = planPath(setup);
  return {
    start,
    steps: steps.map(({ name, state: at, says, seconds, progress }) => ({
      ...{ name, title: titles[name], ...words[at], says, progress },
      seconds: seconds === null ? "" : formatSeconds(seconds),
    })),
    summary: `${done} of ${steps.length} steps are done`,
    planPath: path,
    takes:
      engineBytes === 0 ? "" : `About ${formatCount(Math.round(engineBytes / MEGABYTE))} MB are installed, and two minutes are measured.`,
    replaces:
      start === null || replaces === null
        ? ""
        : `Plans then use the measured speeds. The profile in use, "${replaces}", is set aside for every cluster; Calibration can put it back in use.`,
    ready: path === null ? "" : "Ready. Plan, then approve and apply: a plan is approved by its hash, so approval stays with a person.",
    consequences: [
      "Its engines and its judge end, and its gateway takes no new request.",
      "The installed engine, the workload, plans and history stay.",
      restores === null ? "Plans keep the engine profile in use." : `Plans use the engine profile "${restores}" again.`,
    ].join(" "),
  };
}

function planPath({ state, clusterId, workloadId, suggested }: RealSetup): PreparedSetup["planPath"] {
  if (state !== "ready" || clusterId === null || workloadId === null) return null;
  const view = new URLSearchParams({ cluster: clusterId, workload: workloadId });
  if (suggested !== null) {
    view.set("rate", String(suggested.requestsPerSecond));
    view.set("floor", String(suggested.qualityFloor));
  }
  return `/plan?${view}`;
}
