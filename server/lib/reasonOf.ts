/** What an error says; of anything else that was thrown, its text. */
export function reasonOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}
