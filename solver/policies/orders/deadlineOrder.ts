import type { OrderDocument } from "@/solver/plan/policySchema";
import type { Order } from "../core/policyParts";

/**
 * Earliest deadline first (Liu and Layland, 1973): by the deadline that the client stated, else by an implied one, so many seconds after the
 * program began. Requests with implied deadlines leave in the order in which their programs began, and none waits behind later deadlines
 * for longer than the implied time.
 */
export function deadlineOrder({ impliedSeconds, agingThreshold }: Extract<OrderDocument, { kind: "deadline" }>): Order {
  return {
    kind: "deadline",
    needs: ["identifiers"],
    preference: { key: ({ dueSeconds, programArrivalSeconds }) => dueSeconds ?? programArrivalSeconds + impliedSeconds, agingThreshold },
  };
}
