import { Check } from "../ui/Check";
import { NumberField } from "../ui/Field";

const FIRST_DAYS = 90;

/** Days until something expires. @param days null: it does not expire */
export function ExpiryFields({ days, onChange }: { readonly days: number | null; readonly onChange: (days: number | null) => void }) {
  return (
    <div className="flex flex-wrap items-end gap-4">
      <Check checked={days !== null} onChange={(expires) => onChange(expires ? FIRST_DAYS : null)}>
        It expires
      </Check>
      {days !== null && <NumberField label="In" unit="days from now" value={days} min={1} max={366} whole onChange={onChange} />}
    </div>
  );
}
