import type { Metadata } from "next";
import { EnsemblesScreen } from "@/components/ensembles/EnsemblesScreen";

export const metadata: Metadata = { title: "Ensembles" };

export default function EnsemblesPage() {
  return <EnsemblesScreen />;
}
