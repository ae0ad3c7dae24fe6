import type { WorkflowAgent } from "@/solver/plan/workflowDocument";

/** What an agent answered that another reads. */
export interface GivenAnswer {
  readonly agent: string;
  readonly output: string;
}

/**
 * What an agent of a run is asked with: its instructions as the system message, where it has any; and as the user's the run's input, then each
 * answer that it reads, in the order in which it names them, under a heading of its agent's name.
 */
export function agentMessages(
  { instructions }: WorkflowAgent,
  input: string,
  answers: readonly GivenAnswer[],
): readonly { readonly role: "system" | "user"; readonly content: string }[] {
  const content = [input, ...answers.map(({ agent, output }) => `# ${agent}\n\n${output}`)].join("\n\n");
  return [...(instructions === "" ? [] : [{ role: "system" as const, content: instructions }]), { role: "user", content }];
}
