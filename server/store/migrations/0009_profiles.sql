CREATE TABLE `hand_labels` (
	`profile_id` text NOT NULL,
	`position` integer NOT NULL,
	`model` text NOT NULL,
	`other_model` text NOT NULL,
	`quality` real NOT NULL,
	`actor` text NOT NULL,
	`at` text NOT NULL,
	PRIMARY KEY(`profile_id`, `position`, `model`, `other_model`),
	FOREIGN KEY (`profile_id`) REFERENCES `profiles`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `profile_calls` (
	`profile_id` text NOT NULL,
	`position` integer NOT NULL,
	`model` text NOT NULL,
	`measure_id` text NOT NULL,
	`reading` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`lost` integer DEFAULT 0 NOT NULL,
	`at` text NOT NULL,
	`usd` real NOT NULL,
	`input_tokens` integer,
	`output_tokens` integer,
	`ttft_seconds` real,
	`seconds` real,
	`engine` text,
	`in_flight` integer,
	`score` real,
	`unscored` text,
	`failure` text,
	`answer` text,
	PRIMARY KEY(`profile_id`, `position`, `model`, `measure_id`, `reading`),
	FOREIGN KEY (`profile_id`) REFERENCES `profiles`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `profiles` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` text NOT NULL,
	`actor` text NOT NULL,
	`prompt_set_id` text NOT NULL,
	`request` text NOT NULL,
	`state` text NOT NULL,
	`pause` text,
	FOREIGN KEY (`prompt_set_id`) REFERENCES `prompt_sets`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `prompt_sets` (
	`id` text PRIMARY KEY NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text,
	`summary` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `prompts` (
	`set_id` text NOT NULL,
	`position` integer NOT NULL,
	`prompt` text NOT NULL,
	PRIMARY KEY(`set_id`, `position`),
	FOREIGN KEY (`set_id`) REFERENCES `prompt_sets`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `schedules` (
	`cluster_id` text PRIMARY KEY NOT NULL,
	`schedule` text NOT NULL,
	`enabled` integer NOT NULL,
	`set_by` text NOT NULL,
	`set_at` text NOT NULL,
	`last` text,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `workloads` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `workloads` ADD `parent_id` text;--> statement-breakpoint
ALTER TABLE `workloads` ADD `profile_id` text;