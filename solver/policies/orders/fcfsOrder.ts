import type { Order } from "../core/policyParts";

/** First come, first served: by the time work joined the queue it is in. Work sent back after a failure keeps its first time. */
export const fcfsOrder: Order = { kind: "fcfs", needs: [] };
