"use client";

import { createContext, type ReactNode, useCallback, useContext, useEffect, useId, useState } from "react";

type Report = (id: string, invalid: boolean) => void;
const Reports = createContext<Report | null>(null);

/** Knows whether each number typed inside it can be: what is made of them may wait until they can. */
export function NumberGuard({ children }: { readonly children: (sound: boolean) => ReactNode }) {
  const [invalid, setInvalid] = useState<readonly string[]>([]);
  const report = useCallback<Report>((id, on) => setInvalid((old) => [...old.filter((each) => each !== id), ...(on ? [id] : [])]), []);
  return <Reports value={report}>{children(invalid.length === 0)}</Reports>;
}

/** Tells the guard around it, if there is one, whether what is typed cannot be. Returns whether there is one. */
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
