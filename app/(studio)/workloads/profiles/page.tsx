import type { Metadata } from "next";
import { ProfilesScreen } from "@/components/profiling/ProfilesScreen";

export const metadata: Metadata = { title: "Profiles" };

export default function ProfilesPage() {
  return <ProfilesScreen />;
}
