ALTER TABLE `profile_calls` ADD `confidence` real;--> statement-breakpoint
ALTER TABLE `profiles` ADD `without_logprobs` text;