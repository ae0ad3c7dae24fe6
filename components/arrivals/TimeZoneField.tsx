"use client";

import { useMemo } from "react";
import { TextField } from "../ui/Field";

/** A time zone by its IANA name; all names that the browser knows are offered while typing. */
export function TimeZoneField(props: { readonly value: string; readonly onChange: (timeZone: string) => void }) {
  const names = useMemo(() => ["UTC", ...Intl.supportedValuesOf("timeZone")], []);
  return <TextField label="Time zone" value={props.value} maxLength={60} suggestions={names} onChange={props.onChange} />;
}
