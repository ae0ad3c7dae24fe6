import type { OrderDocument } from "@/solver/plan/policySchema";
import type { Order } from "../core/policyParts";
import { deadlineOrder } from "./deadlineOrder";
import { fcfsOrder } from "./fcfsOrder";
import { mlfqOrder } from "./mlfqOrder";
import { sjfOrder, stjfOrder } from "./shortestOrders";
import { depthOrder, workflowOrder } from "./workflowOrder";

/** The order that a policy's document names, with its own state. */
export function orderOf(order: OrderDocument): Order {
  switch (order.kind) {
    case "fcfs":
      return fcfsOrder;
    case "sjf":
      return sjfOrder(order);
    case "stjf":
      return stjfOrder(order);
    case "workflow":
      return workflowOrder(order);
    case "depth":
      return depthOrder(order);
    case "deadline":
      return deadlineOrder(order);
    case "mlfq":
      return mlfqOrder(order);
  }
}
