import { type MinuteReport, MixRun } from "./mixRun";
import { Parties } from "./parties";

interface FaultMixOptions {
  /** How often everything is broken: even, so that the judge is both killed and stopped. */
  readonly cycles: number;
  readonly onMinute?: (minute: MinuteReport) => void;
}

/**
 * Sends 200 requests a second to a gateway, half of them streamed, half from clients that leave when they wait too long, with bodies of
 * 10 MB and slow senders among them, while engines are killed, hang and answer nonsense, the judge is killed and hangs, what stands for
 * the studio is killed, and the plan changes every second. Everything is a process of its own. Resolves when every request has ended.
 */
export async function runFaultMix({ cycles, onMinute = () => undefined }: FaultMixOptions) {
  const parties = await Parties.start();
  try {
    const run = new MixRun(parties, cycles, onMinute);
    const { counted, leftBehind } = await run.run();
    const { ledger, minutes, throughMs, straightMs, missed, lastDecision } = run;
    const { complaints, planSwitches } = parties;
    return { ledger, minutes, throughMs, straightMs, missed, lastDecision, counted, leftBehind, complaints, planSwitches };
  } finally {
    await parties.end();
  }
}
