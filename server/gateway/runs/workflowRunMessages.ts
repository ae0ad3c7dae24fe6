import type { WorkflowAgent } from "@/solver/plan/workflowDocument";

/** An agent's answer that another agent reads. */
export interface GivenAnswer {
  readonly agent: string;
  readonly output: string;
}

/**
 * The messages for an agent of a run: its instructions, if any, as the system message; as the user message the run's input, then each
 * answer that it reads, in the order in which it names them, under a heading with its agent's name.
 */
export function agentMessages(
  { instructions }: WorkflowAgent,
  input: string,
  answers: readonly GivenAnswer[],
): readonly { readonly role: "system" | "user"; readonly content: string }[] {
  const content = [input, ...answers.map(({ agent, output }) => `# ${agent}\n\n${output}`)].join("\n\n");
  return [...(instructions === "" ? [] : [{ role: "system" as const, content: instructions }]), { role: "user", content }];
}
