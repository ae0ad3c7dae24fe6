import { serveTasks } from "@/server/threads/serveTasks";
import { type CapacityTask, capacityCurve } from "./capacityCurve";

/** Entry of a thread that makes one capacity curve and ends. */
serveTasks((task: CapacityTask) => capacityCurve(task));
