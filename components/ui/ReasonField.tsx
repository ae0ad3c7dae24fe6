import { TextField } from "./Field";

/** Maximum length for the gateway and the audit. */
const MAX_REASON = 300;

/** The operator's reason for an action on live traffic, for the audit. */
export function ReasonField(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly className?: string;
}) {
  return <TextField {...props} maxLength={MAX_REASON} />;
}
