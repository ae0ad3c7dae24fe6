"use client";

import { useMemo } from "react";
import { SelectField } from "../ui/Field";

/** A time zone by its IANA name, of all that the browser knows. */
export function TimeZoneField(props: { readonly value: string; readonly onChange: (timeZone: string) => void }) {
  const { value, onChange } = props;
  const options = useMemo(
    () => [...new Set(["UTC", value, ...Intl.supportedValuesOf("timeZone")])].map((name) => ({ value: name, text: name })),
    [value],
  );
  return <SelectField label="Time zone" value={value} options={options} onChange={onChange} />;
}
