import type { JustInTimePolicy } from "../plan/policySchema";
import type { Policy } from "./policy";

/** Which model runs each stage of a workflow, decided in rounds when engines have room (Aragog, section 3.2). */
export function justInTimePolicy(_document: JustInTimePolicy): Policy {
  throw new Error("Just-in-time policies cannot be built yet.");
}
