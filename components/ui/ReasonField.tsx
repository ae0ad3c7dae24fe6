import { TextField } from "./Field";

/** As long as the gateway and the audit take it. */
const MAX_REASON = 300;

/** Why an operator does something to live traffic, for the audit. */
export function ReasonField(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly className?: string;
}) {
  return <TextField {...props} maxLength={MAX_REASON} />;
}
