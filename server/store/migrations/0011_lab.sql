CREATE TABLE `artefacts` (
	`hash` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` text NOT NULL,
	`actor` text NOT NULL,
	`training` text NOT NULL,
	`held_out` text NOT NULL,
	`bytes` blob NOT NULL
);
--> statement-breakpoint
CREATE TABLE `lab_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` text NOT NULL,
	`actor` text NOT NULL,
	`spec` text NOT NULL,
	`state` text NOT NULL,
	`problem` text,
	`cells` text NOT NULL
);
