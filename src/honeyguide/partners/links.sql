-- fragment: program
c.id AS campaign_id, p.id AS program_id, b.name AS publication_name, b.description, b.logo_id,
p.redirect_url, p.thankyou_page_url, p.slug

-- fragment: verification
p.rule, p.screening, p.is_verification_chosen, c.screening AS campaign_level, p.first_look

-- name: by_code
-- The program that a partner's code leads to.
SELECT {verification}, j.ref_code, j.id AS partner_campaign_id, j.owner_account_id AS account_id, {program}
FROM partner_campaign AS j
JOIN program AS p ON p.id = j.program_id
JOIN publication AS b ON b.id = p.publication_id
JOIN campaign AS c ON c.account_id = j.owner_account_id
WHERE j.ref_code = :code;

-- name: by_program
-- The program that a link without a partner leads to.
SELECT {verification}, '' AS ref_code, '' AS partner_campaign_id, p.account_id, {program}
FROM program AS p
JOIN publication AS b ON b.id = p.publication_id
JOIN campaign AS c ON c.account_id = p.account_id
WHERE p.id = :program_id AND p.account_id = :account_id AND p.deleted_ms IS NULL AND b.deleted_ms IS NULL;
