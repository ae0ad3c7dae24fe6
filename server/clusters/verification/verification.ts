import type { Verification, VerificationCheck } from "@/server/contracts/studio";
import type { PlanInput, PlanPromise, PromiseReport } from "@/server/contracts/studio/promise";

/** Enough for a p95 with ten requests in its tail, and for queues to fill and empty. */
const NEEDS = { requests: 200, seconds: 120 } as const;

/** A window that is undecided by then stays undecided: engine seconds, and at least this much wall time. */
const LONGEST = { seconds: 1800, wallMs: 60_000 } as const;

/** A window that begins now. */
export const openVerification = (fromMs: number): Verification => ({
  ...{ fromMs, toMs: null, state: "watching", requests: 0, needs: NEEDS, checks: [] },
  says: `Measuring: judged after ${NEEDS.requests} requests and ${NEEDS.seconds} s of traffic, ${LONGEST.seconds} s at most.`,
});

export interface VerificationLook {
  readonly nowMs: number;
  readonly timeScale: number;
  /** Report of the plan in force; null: there is none, or nothing was measured yet. */
  readonly report: PromiseReport | null;
  /** Why no traffic can ever decide it, in a sentence; null: some may. */
  readonly unpredicted: string | null;
}

/**
 * An open window after one more look. It ends as passed if the latency kept its promise and no promise was broken, as failed if one was
 * broken under the traffic that the plan was made for, and otherwise as undecided: past its time limit, or at once if there is no
 * prediction.
 *
 * @param planId the plan that the application put into force.
 */
export function lookedAt(open: Verification, planId: string, { nowMs, timeScale, report, unpredicted }: VerificationLook): Verification {
  const ended = (state: Verification["state"], says: string, rest: Partial<Verification> = {}): Verification => ({
    ...open,
    ...rest,
    ...{ state, says, toMs: nowMs },
  });
  if (unpredicted !== null) return ended("undecided", unpredicted);
  if (report !== null && report.planId !== planId) return ended("undecided", "Another plan came into force before this one was judged.");
  const late = nowMs - open.fromMs >= Math.max(LONGEST.wallMs, (LONGEST.seconds * 1000) / timeScale);
  if (report === null) return late ? ended("undecided", "Nothing was measured.") : open;

  const moved = movedTraffic(report.inputs);
  const checks = report.promises.filter(({ kind }) => kind !== "usd").map((promise) => checkOf(promise, moved));
  // Failed requests are traffic too: a plan under which nothing is answered is judged, not waited for.
  const requests = report.requests + report.failed;
  const seen = { requests, checks };
  const enough = requests >= open.needs.requests && report.windowSeconds >= open.needs.seconds;
  if (!enough && !late) {
    const seconds = Math.floor(report.windowSeconds);
    const says = `Measuring: ${requests} of ${open.needs.requests} requests, ${seconds} of ${open.needs.seconds} s.`;
    return { ...open, ...seen, says };
  }
  const of = (verdict: VerificationCheck["verdict"]) => checks.filter((check) => check.verdict === verdict);
  const failed = of("fail");
  const [latency] = checks;
  if (enough && failed.length > 0) return ended("failed", `Does not keep its promises: ${failed.map(told).join("; ")}.`, seen);
  const few = checks.some(({ verdict, measured }) => verdict === "undecided" && measured !== null);
  if (few && moved === null && !late) return { ...open, ...seen, says: "Measuring: not everything is decided yet." };
  if (enough && latency?.verdict === "pass") {
    const decided = `${of("pass").length} of ${checks.length} figures hold, none is broken`;
    return ended("passed", `Keeps its promises: ${told(latency)}; ${decided}.`, seen);
  }
  if (moved !== null) return ended("undecided", `The traffic is not what the plan was made for: ${moved}.`, seen);
  if (report.notComparable !== null) return late ? ended("undecided", report.notComparable, seen) : { ...open, ...seen };
  return ended(
    "undecided",
    `Too little traffic to tell: ${requests} of ${open.needs.requests} requests in ${Math.floor(report.windowSeconds)} s.`,
    seen,
  );
}

/** Under other traffic than planned, a broken figure is not the plan's fault; a figure that holds nevertheless is kept. */
function checkOf(
  { name, kind, promised, band, measured, interval, verdict, reason }: PlanPromise,
  moved: string | null,
): VerificationCheck {
  const figures = { name, kind, promised, band, measured, interval };
  if (verdict === "kept") return { ...figures, verdict: "pass", reason };
  if (verdict !== "broken") return { ...figures, verdict: "undecided", reason };
  if (moved === null) return { ...figures, verdict: "fail", reason };
  return { ...figures, verdict: "undecided", reason: `the traffic is not what the plan was made for: ${moved}` };
}

/** How the traffic differs from the planned one; null: not. Less of it is no excuse. */
function movedTraffic(inputs: readonly PlanInput[]): string | null {
  const moved = inputs.filter(
    ({ kind, state, planned, now }) =>
      (state === "moved" || state === "drifted") && (kind === "tokens" || kind === "score" || (kind === "rate" && (now ?? 0) > planned)),
  );
  const texts = moved.map(({ name, planned, now }) => `${name} ${figure(now ?? Number.NaN)}, planned ${figure(planned)}`);
  return texts.length === 0 ? null : texts.join(", ");
}

const told = ({ name, kind, measured, promised }: VerificationCheck): string => {
  const unit = (value: number): string =>
    kind === "share" ? `${figure(100 * value)} %` : kind === "seconds" ? `${figure(value)} s` : figure(value);
  return `${name} ${unit(measured ?? Number.NaN)}, promised ${unit(promised)}`;
};

const figure = (value: number): string => String(Number(value.toPrecision(3)));
