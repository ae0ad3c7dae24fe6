import { SHARE_BOUNDS, USUAL_SHARE } from "@/solver/tournament/tournamentLimits";
import { codecOf, number, text, withDefault } from "../url/addressFields";

const LONGEST_NAME = 100;

/** The view of a workload's gates. */
export const gatesCodec = codecOf({
  /** Share of answers sent on at which gates are compared with random escalation. */
  share: withDefault(number(SHARE_BOUNDS), USUAL_SHARE),
  /** Name of the gate whose reliability is drawn; null, or one that a stage lacks: its best. */
  gate: text(LONGEST_NAME),
});
