-- Operations with problems are counted with every window; they are few.
create index change_request_operation_problems on change_request_operation (account_id, change_request_id) where has_problem;
