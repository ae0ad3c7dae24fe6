import type { Metadata } from "next";
import { PeopleScreen } from "@/components/people/PeopleScreen";

export const metadata: Metadata = { title: "People and keys" };

export default function PeoplePage() {
  return <PeopleScreen />;
}
