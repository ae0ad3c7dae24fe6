import type { Metadata } from "next";
import { NewProfileScreen } from "@/components/profiling/NewProfileScreen";

export const metadata: Metadata = { title: "New profile" };

export default function NewProfilePage() {
  return <NewProfileScreen />;
}
