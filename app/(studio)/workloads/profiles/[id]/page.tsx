import type { Metadata } from "next";
import { ProfileScreen } from "@/components/profiling/ProfileScreen";

export const metadata: Metadata = { title: "Profile" };

export default async function ProfilePage({ params }: { readonly params: Promise<{ readonly id: string }> }) {
  return <ProfileScreen id={(await params).id} />;
}
