import { serveTasks } from "@/server/threads/serveTasks";
import { agentLine, type LineAgent } from "@/solver/workflow/learning/agentLine";

/** Entry of the thread that places agents on their line: for thousands of them this takes longer than a request may wait. */
serveTasks((agents: readonly LineAgent[]) => agentLine(agents));
