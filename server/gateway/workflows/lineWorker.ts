import { serveTasks } from "@/server/threads/serveTasks";
import { agentLine, type LineAgent } from "@/solver/workflow/learning/agentLine";

/** Entry of the thread in which agents are placed on their line: of thousands of them it takes longer than a request may wait. */
serveTasks((agents: readonly LineAgent[]) => agentLine(agents));
