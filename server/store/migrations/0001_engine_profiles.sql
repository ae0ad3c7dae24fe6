CREATE TABLE `calibrations` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` text NOT NULL,
	`actor` text NOT NULL,
	`profile` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `profile_uses` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` text NOT NULL,
	`actor` text NOT NULL,
	`profile_id` text NOT NULL
);
