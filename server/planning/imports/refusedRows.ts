import { type RowProblem, rowProblemTexts } from "@/solver/workload/rowProblems";

/** Lines that are checked after the first problem, so that a wrong file of any size is refused soon. */
const MOST_FURTHER_LINES = 10_000;

/** Collects the first problem of a refused file, and the later rows with exactly the same one. */
export function createRefusedRows(file: string) {
  const problems: RowProblem[] = [];
  let isCut = false;
  return {
    /** A problem that differs from the first is ignored. */
    add(problem: RowProblem): void {
      if (problems.length === 0 || problems[0]?.reason === problem.reason) problems.push(problem);
    },
    /** Whether reading may end at this line: enough lines were checked after the first problem. */
    isEnough(line: number): boolean {
      isCut = problems[0] !== undefined && line - problems[0].line >= MOST_FURTHER_LINES;
      return isCut;
    },
    /** Why the file is refused, without a full stop; null if there is no problem. */
    message: (): string | null => (problems.length === 0 ? null : rowProblemTexts(file, problems, isCut).join(". ")),
  };
}
