//! The table of holes. A test is named by its crate or folder, its file and its function; one of the
//! page by its file and the words of its check.

use super::Hole;

pub(super) const HOLES: &[Hole] = &[
    Hole {
        name: "no login unless somebody configures one",
        seen: "opencode CVE-2026-22812",
        tests: &[
            "it/page_server::nothing_is_answered_without_a_login_but_the_shell_of_the_page",
            "it/page_server::others_do_not_reach_it_without_tls_or_a_proxy",
            "it/api::no_route_answers_without_its_right_or_for_another_page",
            "web/http/gate/tests::every_route_but_the_open_ones_needs_a_login",
        ],
    },
    Hole {
        name: "one socket that was forgotten",
        seen: "marimo CVE-2026-39987",
        tests: &[
            "web/http/routes::only_what_is_not_personal_needs_no_login",
            "web/http/gate/tests::every_route_but_the_open_ones_needs_a_login",
            "web/http/gate/tests::a_socket_needs_the_key_among_its_subprotocols",
            "web/protocol/request::the_table_names_each_verb_and_each_takes_a_right",
        ],
    },
    Hole {
        name: "a socket that pages of others may open",
        seen: "OpenClaw CVE-2026-25253",
        tests: &[
            "it/page_server::no_other_page_opens_a_socket_or_sends_a_request",
            "web/http/gate/tests::no_other_origin_is_answered",
            "web/http/gate/tests::no_browser_uses_what_is_for_programs",
        ],
    },
    Hole {
        name: "a name of somebody else that resolves to this computer",
        seen: "Ollama CVE-2024-28224",
        tests: &[
            "it/page_server::no_other_name_leads_to_it",
            "it/served_elsewhere::with_a_certificate_it_serves_others_by_its_names_alone",
            "it/served_elsewhere::behind_a_proxy_only_its_name_and_its_word_count",
            "web/http/gate/tests::no_other_host_is_answered_whatever_is_asked",
            "web/http/host_names::names_that_look_like_ours_are_not",
            "page/rebinding: the socket",
            "page/rebinding: it came by the attacker's name",
            "page/rebinding: a socket to another origin",
            "page/rebinding: a window with a form",
            "page/rebinding: the sessions",
        ],
    },
    Hole {
        name: "an origin that only begins like ours",
        seen: "Jupyter CVE-2026-40110",
        tests: &[
            "web/http/gate/tests::no_other_origin_is_answered",
            "web/http/host_names::what_is_put_around_a_name_makes_another",
        ],
    },
    Hole {
        name: "a form, a picture or plain text of another page",
        seen: "JupyterHub CVE-2026-40864",
        tests: &[
            "it/page_server::forms_pictures_and_plain_text_change_nothing",
            "it/kernel_front_end::a_form_of_another_page_logs_nobody_in",
            "web/http/gate/tests::a_browser_may_ask_only_for_our_own_page",
            "web/http/gate/tests::only_json_of_a_known_length_is_read",
            "web/http/gate/tests::a_cookie_of_a_program_opens_its_own_routes_with_its_header_alone",
        ],
    },
    Hole {
        name: "answers that any page may read",
        seen: "opencode issue 6355",
        tests: &[
            "it/page_server::forms_pictures_and_plain_text_change_nothing",
            "web/http/answers::no_answer_may_be_framed_by_others_guessed_or_read_from_elsewhere",
        ],
    },
    Hole {
        name: "a secret in an address, a referrer or a log",
        seen: "Jupyter CVE-2026-86049",
        tests: &[
            "it/page_server::no_secret_is_ever_written_down",
            "it/opening::the_browser_opens_and_nobody_reads_the_link_among_its_arguments",
            "it/people::a_password_is_kept_nowhere_and_is_no_argument",
            "it/kernel_front_end::a_wrong_password_or_a_token_in_the_address_runs_nothing",
            "web/http/gate/tests::a_token_in_an_address_opens_nothing_and_is_named_as_the_reason",
        ],
    },
    Hole {
        name: "a secret that is empty, or is there and not compared",
        seen: "OpenClaw CVE-2026-28472",
        tests: &[
            "it/page_server::a_link_works_once_and_nothing_like_it_works",
            "it/api::no_route_answers_without_its_right_or_for_another_page",
            "web/http/gate/tests::every_route_but_the_open_ones_needs_a_login",
            "web/http/logins::a_code_works_once_and_for_a_minute",
            "web/http/random_key::keys_differ_and_only_the_same_text_fits",
        ],
    },
    Hole {
        name: "a login that outlives a logout, a new password or its own time",
        seen: "Jupyter CVE-2026-40934",
        tests: &[
            "it/page_server::a_logout_ends_the_login_and_every_socket_of_it",
            "it/people::whoever_is_changed_or_removed_loses_an_open_socket",
            "web/http/logins::an_ended_login_ends_what_it_holds_open",
            "web/http/logins::whatever_a_login_holds_open_ends_after_its_thirty_days",
        ],
    },
    Hole {
        name: "a role that is taken away from somebody with an open socket",
        seen: "Open WebUI CVE-2026-44553",
        tests: &[
            "it/people::whoever_is_changed_or_removed_loses_an_open_socket",
            "it/people::roles_and_shares_allow_what_they_say_and_a_share_taken_back_gives_nothing_more",
        ],
    },
    Hole {
        name: "rights that a request claims for itself",
        seen: "OpenClaw GHSA-rqpp-rjj8-7wv8",
        tests: &[
            "it/web_overreach::whoever_names_their_own_rights_has_none_more",
            "it/page_server::a_secret_is_worth_the_same_wherever_it_stands_and_nothing_elsewhere",
            "web/http/gate/tests::every_route_but_the_open_ones_needs_a_login",
        ],
    },
    Hole {
        name: "a secret that works after it was replaced",
        seen: "OpenClaw GHSA-m8wm-r5vq-qjpg",
        tests: &[
            "it/page_server::a_token_has_its_rights_until_it_is_revoked",
            "it/api::a_revoked_token_loses_its_stream_at_once",
            "it/kernels_served::a_revoked_token_loses_its_kernel_at_once",
            "web/http/web_socket::a_quiet_socket_of_a_revoked_token_ends",
        ],
    },
    Hole {
        name: "something of somebody else by its id",
        seen: "Open WebUI CVE-2026-45349",
        tests: &[
            "it/people::two_people_find_nothing_of_each_other_by_any_id",
            "it/people_bounds::nobody_else_hears_the_records_of_a_session",
            "it/kernels_served::nobody_reaches_the_kernel_of_another_or_a_session_that_is_none",
            "it/web_overreach::a_response_of_somebody_else_cannot_be_gone_on_from",
            "web/http/openai/conversations::a_conversation_goes_on_where_only_it_was",
            "web/people/shares::nobody_reaches_anything_that_was_not_shared_or_was_taken_back",
        ],
    },
    Hole {
        name: "a right to read that is used to write",
        seen: "Open WebUI CVE-2026-44564",
        tests: &[
            "it/web_overreach::whoever_may_only_watch_changes_nothing_by_any_way_in",
            "it/serving_rights::whoever_may_only_answer_changes_no_file",
            "it/kernels_served::a_right_that_is_missing_is_named_and_nothing_runs",
        ],
    },
    Hole {
        name: "a restriction that holds for one header and not for another",
        seen: "Open WebUI CVE-2026-45339",
        tests: &[
            "it/page_server::a_secret_is_worth_the_same_wherever_it_stands_and_nothing_elsewhere",
            "web/http/gate/tests::two_secrets_of_one_kind_are_refused",
        ],
    },
    Hole {
        name: "output that becomes a script of the page",
        seen: "Jupyter CVE-2026-44727",
        tests: &[
            "it/page_server::a_result_is_shown_without_an_origin_and_only_to_whoever_may_see_it",
            "it/page_server::a_drawing_is_shown_as_a_picture_and_nowhere_else",
            "web/http/shown_results::no_page_has_a_tag_that_runs_loads_or_connects",
            "page/hostile: elements in the reply",
            "page/hostile: elements of a formula",
            "page/hostile: requests of a formula",
        ],
    },
    Hole {
        name: "a frame that is less of a cage than it looks",
        seen: "UI-TARS issue 1938",
        tests: &[
            "web/http/answers::a_result_has_no_origin_no_script_and_loads_nothing",
            "page/hostile: the frame's sandbox",
            "page/hostile: a script ran in a result of its own",
            "page/hostile: ways out of a cage of two walls",
            "page/hostile: ways out of the frame's sandbox alone",
            "page/hostile: ways out of the server's policy alone",
        ],
    },
    Hole {
        name: "words that leave with a picture, a link or a hint",
        seen: "EchoLeak CVE-2025-32711",
        tests: &[
            "page/hostile: requests that left",
            "page/hostile: connections that were made, by a hint to the browser for example",
        ],
    },
    Hole {
        name: "text that slips through a cleaner of markup",
        seen: "advisories of DOMPurify, 2026",
        tests: &[
            "page/hostile: Trusted Types",
            "it/page_server::no_other_page_shows_it_in_a_frame",
        ],
    },
    Hole {
        name: "a folder that only begins like the one that is allowed",
        seen: "Jupyter CVE-2026-35397",
        tests: &[
            "it/web_overreach::a_folder_whose_name_begins_alike_is_another",
            "it/serving_rights::another_folder_takes_the_right_to_answer",
            "core/pick::nothing_beside_a_path_is_below_it",
        ],
    },
    Hole {
        name: "a file name of the code that writes elsewhere",
        seen: "LibreChat GHSA-qrm5-r67f-6692",
        tests: &[
            "it/web_overreach::names_that_code_chose_say_nothing_in_a_header_and_lead_nowhere",
            "it/uploading::names_in_an_archive_lead_nowhere",
            "it/uploading::no_file_lands_elsewhere_and_none_that_is_cut_stays",
            "web/files/member_names::no_name_is_absolute_or_goes_up",
        ],
    },
    Hole {
        name: "an interface to files that reads more than code may",
        seen: "Open Terminal issue 123",
        tests: &[
            "it/web_overreach::a_folder_whose_name_begins_alike_is_another",
            "it/web_overreach::names_that_code_chose_say_nothing_in_a_header_and_lead_nowhere",
            "it/uploading::no_file_lands_elsewhere_and_none_that_is_cut_stays",
        ],
    },
    Hole {
        name: "an address that the server is made to fetch",
        seen: "LibreChat CVE-2026-31943",
        tests: &[
            "it/web_overreach::nothing_that_a_client_sends_makes_the_server_fetch_it",
            "core/egress/range::no_dress_makes_a_refused_address_pass",
            "web/http/oidc/metadata::no_document_leads_to_this_computer_or_into_the_clear",
            "web/http/oidc/metadata::no_document_leads_into_somebodys_own_network_by_a_number",
        ],
    },
    Hole {
        name: "a setting by which a client runs a program",
        seen: "OpenClaw CVE-2026-25593",
        tests: &[
            "it/web_overreach::whoever_names_their_own_rights_has_none_more",
            "web/protocol/request::a_request_is_read_strictly",
            "web/http/api/asking::a_path_decides_which_session_and_a_body_cannot_name_another",
        ],
    },
    Hole {
        name: "a side door to running code",
        seen: "OpenClaw GHSA-943q-mwmv-hhvh",
        tests: &[
            "it/arrow::dependencies_follow_the_arrow",
            "it/openai::a_chat_goes_on_in_its_session_and_asks_before_code_runs",
            "it/kernels_served::where_a_rule_asks_or_denies_nothing_runs_and_the_link_is_told",
            "it/kernels_served::a_right_that_is_missing_is_named_and_nothing_runs",
        ],
    },
    Hole {
        name: "a session that is resumed with looser rules",
        seen: "openseek pull request 768",
        tests: &[
            "it/protocol::a_session_that_comes_from_another_asks_no_less",
            "it/serving_rights::a_session_that_comes_from_another_reaches_no_further",
            "it/serving_rights::a_conversation_goes_to_no_model_that_has_not_heard_it",
            "web/protocol/request::a_request_is_read_strictly",
        ],
    },
    Hole {
        name: "a login provider whose word is believed too easily",
        seen: "Bindarr issue 43",
        tests: &[
            "web/http/oidc/id_token/tests::no_algorithm_is_taken_that_is_not_the_keys",
            "web/http/oidc/id_token/tests::a_key_serves_only_its_purpose",
            "web/http/oidc/id_token/tests::every_claim_must_be_there_and_be_right",
            "web/http/oidc/id_token/tests::addresses_and_names_make_nobody_somebody_else",
            "web/http/oidc/pending::a_state_lets_in_once",
            "web/http/oidc/pending::a_code_for_the_page_works_once_in_its_browser_and_for_a_minute",
            "page/provider: a code in another browser",
            "page/provider: a redirect is not followed",
        ],
    },
    Hole {
        name: "a cookie that another server puts in front of ours",
        seen: "JupyterHub GHSA-7r3h-4ph8-w38g",
        tests: &[
            "it/page_server::a_cookie_is_of_one_port_and_one_put_beside_it_changes_nothing",
            "it/served_elsewhere::with_a_certificate_it_serves_others_by_its_names_alone",
            "web/http/gate/tests::a_cookie_of_somebody_else_changes_nothing",
        ],
    },
    Hole {
        name: "a login that leads to another site",
        seen: "Jupyter CVE-2019-10255",
        tests: &[
            "it/web_overreach::no_answer_leads_a_browser_elsewhere",
            "it/kernel_front_end::a_form_of_another_page_logs_nobody_in",
        ],
    },
    Hole {
        name: "a secret that can be guessed in peace",
        seen: "OpenClaw",
        tests: &[
            "it/page_server::whoever_tries_links_is_noticed_and_locks_nobody_out",
            "it/people::guesses_are_limited_and_answered_alike",
            "it/kernel_front_end::a_wrong_password_or_a_token_in_the_address_runs_nothing",
            "web/http/guesses::names_and_addresses_have_a_number_of_attempts_in_a_span",
        ],
    },
    Hole {
        name: "slow, endless or very many requests",
        seen: "every server",
        tests: &[
            "it/page_server::heads_bodies_and_messages_are_bounded",
            "it/page_server::strangers_who_hold_connections_keep_nobody_out",
            "it/page_server::a_message_of_a_million_lines_is_held_once",
            "it/page_server::no_token_is_looked_up_for_a_stranger_and_nobody_waits_for_the_disk",
            "it/web_exhaustion::a_body_that_never_comes_ends_by_itself_and_keeps_nobody_waiting",
            "it/web_exhaustion::a_message_in_endless_pieces_is_bounded",
            "it/web_exhaustion::a_client_has_so_many_subscriptions_and_another_has_its_own",
            "it/web_exhaustion::descriptors_that_run_out_end_nothing_and_come_back",
            "it/web_exhaustion::kernels_that_are_begun_at_once_are_no_more_than_there_may_be",
            "it/kernels_served::kernels_and_their_messages_are_bounded",
            "it/protocol::whoever_does_not_read_stops_nobody",
            "it/serving_leaving::a_page_that_is_closed_while_it_is_behind_ends_nothing",
            "web/http/stalling::a_client_that_never_reads_is_dropped_and_another_is_not",
            "web/hub::whoever_races_for_places_gets_no_more_than_there_are",
        ],
    },
    Hole {
        name: "a request that a proxy reads in another way, and headers that claim to be a proxy's",
        seen: "every proxy",
        tests: &[
            "it/page_server::a_request_that_can_be_read_in_two_ways_is_not_read",
            "it/served_elsewhere::behind_a_proxy_only_its_name_and_its_word_count",
            "web/http/gate/tests::only_json_of_a_known_length_is_read",
            "web/http/proxied::only_the_last_word_of_the_proxy_counts",
        ],
    },
    Hole {
        name: "a page that shows ours in a frame",
        seen: "every page",
        tests: &[
            "it/page_server::no_other_page_shows_it_in_a_frame",
            "web/http/answers::no_answer_may_be_framed_by_others_guessed_or_read_from_elsewhere",
        ],
    },
    Hole {
        name: "a yes to something that was not shown",
        seen: "Codex issue 36501",
        tests: &[
            "it/protocol::code_runs_after_an_answer_to_what_was_shown",
            "it/api::a_conversation_by_requests_alone",
            "it/serving_rights::hunks_that_were_not_shown_are_not_picked",
        ],
    },
    Hole {
        name: "a socket in the file system that others reach, or that takes the place of a file",
        seen: "every local server",
        tests: &[
            "it/protocol_ends::a_socket_is_private_and_never_takes_the_place_of_a_file",
            "web/socket::a_socket_takes_the_place_of_nothing_but_one_left_behind",
            "web/socket::its_folder_is_private",
        ],
    },
    Hole {
        name: "a signal at a bad time",
        seen: "every server",
        tests: &[
            "it/protocol_ends::a_signal_ends_every_session_in_order",
            "it/page_server::a_signal_ends_it_in_order_with_every_connection",
            "it/web_exhaustion::signals_at_any_time_end_it_and_leave_nothing",
        ],
    },
];
