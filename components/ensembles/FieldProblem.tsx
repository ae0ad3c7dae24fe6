import { ErrorLine } from "../ui/ErrorLine";

/** What is wrong with a field, once somebody tried to keep the whole. */
export const FieldProblem = ({ text }: { readonly text: string | undefined }) =>
  text !== undefined && <ErrorLine error={{ message: text }} />;
