import type { Plan } from "@/solver/plan/plan";
import type { SlackStep, SlackSteps } from "@/solver/plan/planSlack";
import { isPredicted, type PolicyDocument, singlesPolicyOf } from "@/solver/plan/policySchema";
import { type LineInput, type LinesPicture, prepareLines } from "../charts/prepareLines";
import { formatPercent, formatScore, formatScoreBound, formatSeconds } from "../ui/format";

interface ApprovedRow {
  readonly key: string;
  /** `+18 %`, `τ 1.2`. */
  readonly slack: string;
  readonly thresholds: string;
  readonly quality: string;
  readonly p95: string;
  /** Of the last model. */
  readonly share: string;
  readonly state: "planned" | "approved" | "needs a new plan";
}

/** The settings that are approved with a plan, on the latency-quality frontier of its replicas. */
export interface ApprovedRange {
  /** `Approved with this plan: thresholds 84–95 and 50–63; slack 0–35 %.` */
  readonly says: string;
  readonly picture: LinesPicture | null;
  readonly rows: readonly ApprovedRow[];
  /** Whether some settings need another plan. */
  readonly hasBeyond: boolean;
  /** Header of the column of shares. */
  readonly shareOf: string;
  readonly kind: SlackSteps["kind"];
}

/**
 * The approved range of a plan's controls; null where the plan predicts no other settings. Nothing is predicted for a just-in-time
 * policy: the figures in its document are of the plan that it was made from.
 */
export function prepareApprovedRange({ policy, predictions }: Pick<Plan, "policy" | "predictions">): ApprovedRange | null {
  if (!isPredicted(policy)) return unpredicted(policy);
  const { slack } = predictions;
  if (slack === undefined) return null;
  const { kind, steps } = slack;
  const planned = steps.find((step) => isPlanned(step, policy));
  const approved = steps.filter((step) => step.approved);
  const row = (step: SlackStep, at: number): ApprovedRow => ({
    key: String(at),
    slack: kind === "tau" ? `τ ${numberText(step.value)}` : `+${formatPercent(step.value)}`,
    thresholds: step.thresholds?.join(", ") ?? "",
    quality: `${formatScore(step.quality)} (at least ${formatScoreBound(step.qualityLow)})`,
    p95: formatSeconds(step.p95Seconds),
    share: formatPercent(step.share.at(-1)),
    state: step === planned ? "planned" : step.approved ? "approved" : "needs a new plan",
  });
  return {
    ...{ kind, says: `Approved with this plan: ${[...rangesSay(policy), ...slackSays(kind, approved)].join("; ")}.` },
    picture: pictureOf(steps, planned),
    rows: steps.map(row),
    hasBeyond: approved.length < steps.length,
    shareOf: predictions.stages.at(-1)?.model ?? "the largest model",
  };
}

function unpredicted(policy: PolicyDocument): ApprovedRange | null {
  const singles = singlesPolicyOf(policy);
  const ranges = singles === null ? [] : rangesSay(singles);
  if (ranges.length === 0) return null;
  return {
    says: `Approved with this plan, for requests outside workflows: ${ranges.join("; ")}. Nothing predicts other settings.`,
    ...{ picture: null, rows: [], hasBeyond: false, shareOf: "", kind: singles?.kind === "slack" ? "tau" : "p95" },
  };
}

const isPlanned = ({ value, thresholds }: SlackStep, policy: PolicyDocument): boolean =>
  policy.kind === "slack" ? value === policy.tau : policy.kind === "cascade" && String(thresholds) === String(policy.thresholds);

function rangesSay(policy: PolicyDocument): readonly string[] {
  const text = ({ min, max }: { readonly min: number; readonly max: number }): string =>
    min === max ? numberText(min) : `${numberText(min)}–${numberText(max)}`;
  if (policy.kind === "slack") {
    const { tau, deltaScore } = policy.approvedRanges;
    return [`slack τ ${text(tau)}`, `confidence margin ${text(deltaScore)}`];
  }
  if (policy.kind !== "cascade" || policy.thresholds.length === 0) return [];
  const ranges = policy.approvedRanges.thresholds.map(text);
  return [`threshold${ranges.length === 1 ? "" : "s"} ${ranges.join(" and ")}`];
}

/** Of a cascade: the slack between its first and last approved settings. */
function slackSays(kind: SlackSteps["kind"], approved: readonly SlackStep[]): readonly string[] {
  const [first, last] = [approved[0], approved.at(-1)];
  if (kind === "tau" || first === undefined || last === undefined) return [];
  const percent = (step: SlackStep): string => String(Math.round(100 * step.value));
  return [first === last ? `slack ${percent(first)} %` : `slack ${percent(first)}–${percent(last)} %`];
}

const hues = { approved: "var(--accent)", beyond: "var(--ink-3)", planned: "var(--ink)" } as const;

/** The approved part is solid, the rest dashed from its neighbour on. */
function pictureOf(steps: readonly SlackStep[], planned: SlackStep | undefined): LinesPicture | null {
  const point = ({ p95Seconds, quality }: SlackStep) => ({ x: p95Seconds, y: quality, xSpan: null, ySpan: null, tag: "" });
  const line = (key: string, of: Pick<LineInput, "name" | "letter" | "hue" | "dash">, own: readonly SlackStep[]): LineInput => ({
    ...{ key, ...of },
    points: own.map(point),
  });
  const runs = runsOf(steps);
  const lines = runs.map((run, at): LineInput => {
    if (run.approved) return line(`approved ${at}`, { name: "approved", letter: "A", hue: hues.approved, dash: "" }, run.steps);
    const [before, after] = [runs[at - 1]?.steps.at(-1), runs[at + 1]?.steps[0]];
    const joined = [...(before === undefined ? [] : [before]), ...run.steps, ...(after === undefined ? [] : [after])];
    return line(`beyond ${at}`, { name: "needs a new plan", letter: "N", hue: hues.beyond, dash: "5 4" }, joined);
  });
  const mark = planned === undefined ? [] : [line("planned", { name: "planned", letter: "P", hue: hues.planned, dash: "" }, [planned])];
  return prepareLines({
    lines: [...lines, ...mark],
    x: { title: "p95 end to end", format: formatSeconds },
    y: { title: "Quality", format: formatScore },
    marked: false,
  });
}

interface Run {
  readonly approved: boolean;
  readonly steps: readonly SlackStep[];
}

function runsOf(steps: readonly SlackStep[]): readonly Run[] {
  const runs: { approved: boolean; steps: SlackStep[] }[] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    if (last?.approved === step.approved) last.steps.push(step);
    else runs.push({ approved: step.approved, steps: [step] });
  }
  return runs;
}

const numberText = (value: number): string => String(Number(value.toFixed(2)));
