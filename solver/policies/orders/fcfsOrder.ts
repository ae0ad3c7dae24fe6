import type { Order } from "../core/policyParts";

/** First come, first served: by the time work joined its queue. Work returned after a failure keeps its first time. */
export const fcfsOrder: Order = { kind: "fcfs", needs: [] };
