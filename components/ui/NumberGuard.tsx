"use client";

import { createContext, type ReactNode, useCallback, useContext, useEffect, useId, useState } from "react";

type Report = (id: string, invalid: boolean) => void;
const Reports = createContext<Report | null>(null);

/** Knows whether each number typed inside it is valid: actions on the numbers wait until they are. */
export function NumberGuard({ children }: { readonly children: (sound: boolean) => ReactNode }) {
  const [invalid, setInvalid] = useState<readonly string[]>([]);
  const report = useCallback<Report>((id, on) => setInvalid((old) => [...old.filter((each) => each !== id), ...(on ? [id] : [])]), []);
  return <Reports value={report}>{children(invalid.length === 0)}</Reports>;
}

/** Reports to the surrounding guard, if any, whether the typed number is invalid. Returns whether there is a guard. */
export function useNumberGuard(invalid: boolean): boolean {
  const report = useContext(Reports);
  const id = useId();
  useEffect(() => {
    if (report === null || !invalid) return;
    report(id, true);
    return () => report(id, false);
  }, [report, id, invalid]);
  return report !== null;
}
