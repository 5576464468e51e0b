"""Which column of which tool is which field, and what becomes of the others. Names are without
case, spaces and punctuation, as `plain` makes them. `sources` has the table of the tools.
"""

from __future__ import annotations

import re

# Which names a field has in a file, best first.
FieldNames = dict[str, tuple[str, ...]]
# Why we do not take columns, by the reason.
Ignored = dict[str, tuple[str, ...]]
NO_FIELDS: FieldNames = {}
NONE_IGNORED: Ignored = {}

FIELDS = {
    "email": "Email",
    "name": "Name",
    "last_name": "Last name (added to the name)",
    "ref_code": "Referral code (kept as ours if possible)",
    "code": "Their own code",
    "codes": "Further codes (separated by spaces)",
    "link": "Their own link",
    "own_id": "ID in the old tool",
    "referrer_code": "Referrer’s code",
    "referrer": "Referrer (code, email or ID)",
    "referral_status": "Status of their referral",
    "rejected": "Referral rejected (yes or no)",
    "referral_reason": "Reason of that status",
    "referral_due_at": "When a pending referral is verified",
    "claimed_code": "Code that nobody had",
    "referrals_count": "Number of referrals",
    "adjustments": "Adjustment",
    "rewards_given": "Last reward they got",
    "coupon": "Coupon they got (kept as a note)",
    "created_at": "Signup date",
    "status": "Status",
    "subscribed": "Subscribed (yes or no)",
    "unsubscribed": "Unsubscribed (a date, or yes)",
    "bounced": "Bounced or left (a date, or yes)",
    "must_confirm": "Has to confirm (yes or no)",
    "utm_source": "Source",
    "utm_campaign": "Campaign",
    "ip_address": "IP address",
    "tags": "Tags",
    "notes": "Notes",
    "consents": "Consents (as in our export)",
    "earned_rewards": "Earned rewards (as in our export)",
}

PAYMENT = "We don’t store payment details."
PAID = "It says whether they pay. Everyone in the file is a subscriber."
FIGURES = "A figure of the old tool that we count ourselves."
LOCATION = "We don’t store where people live."
PHONE = "We don’t store phone numbers."
INTERNAL = "Only the old tool needs it."
WEBSITE = "The website they came from, which is not a person."
UTM = "Of the UTM values, we store source and campaign."
OTHER_DATES = "We store when they signed up."
OURS = "We find this out again from the referrals."
WHICH_FILE = "It says which file of the archive the line is from."
UNCHOSEN = "It is empty, or has nothing that we can use. If it has, choose its field."
UNKNOWN = "We don’t know this column. If you need it, choose its field."

# Columns that we add to what an archive has, because only the names of its files say it.
FILE_NAME = "file in the archive"
STATUS_BY_FILE = "status by file name"


def plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


_LEFT = (
    *("unsubtime", "cleantime", "cleaned", "unsubscriptiondate", "deletedat", "optedout"),
    *("unsubscribedat", "unsubscribed", "emaildisabled"),
)
# In any file, and for the fields that the table of a tool does not name.
ANY: FieldNames = {
    "email": ("email", "emailaddress", "mail", "subscriberemail", "address"),
    "name": ("name", "fullname", "firstname", "subscribername"),
    "last_name": ("lastname", "surname", "familyname"),
    "ref_code": ("refcode",),
    "code": (
        *("referralcode", "rhcode", "sharecode", "invitecode", "uniquecode"),
        *("memorablecode", "mycode", "socialid", "code"),
    ),
    "codes": ("codes", "furthercodes"),
    "link": (
        *("reflink", "referrallink", "referralurl", "rhreflink", "sharelink", "shareurl"),
        *("invitelink", "uniquelink", "socialurl"),
    ),
    "referrer_code": ("referrercode", "referrerscode", "referredbycode", "ref"),
    "referrer": (
        *("referrer", "referredby", "referreremail", "referredbyemail", "referrerid"),
        *("referreruuid", "referredbyid", "referringsubscriberid", "inviter", "invitedby"),
        *("inviteremail", "parentid", "sharer", "rhsharer"),
    ),
    "own_id": ("id", "uuid", "subscriberid", "participantid", "userid", "rhsubid"),
    "referrals_count": (
        *("referrals", "referralscount", "referralcount", "verifiedreferrals"),
        *("referralsverified", "totalreferrals", "referralstotal", "numberofreferrals"),
        *("rhtotref", "rhglobref"),
    ),
    "referral_status": ("referralstatus", "rhisref"),
    "rejected": ("fraudulent", "isfraudulent"),
    "referral_reason": ("referralreason",),
    "referral_due_at": ("referraldueat",),
    "claimed_code": ("claimedcode",),
    "rewards_given": ("rhlastreward", "lastreward"),
    "coupon": ("rhcoupon", "coupon", "couponcode"),
    "adjustments": ("adjustments", "adjustment"),
    "created_at": (
        *("createdat", "signedupat", "subscribedat", "date", "created", "optintime", "joined"),
        *("dateadded", "signupdate", "signuptime", "registrationdate", "registeredat"),
        *("datecreated", "createdon", "subscriptiondate", "subscribedon", "joindate", "joinedat"),
    ),
    "status": (plain(STATUS_BY_FILE), "status", "subscriptionstatus", "state"),
    "subscribed": ("subscribedtoemails", "subscribed"),
    "unsubscribed": _LEFT,
    # A second column of the same kind: whoever left by one of them has left.
    "bounced": (*_LEFT, "hardbounced", "bouncedat"),
    "must_confirm": ("mustconfirm",),
    "utm_source": ("utmsource", "source", "rhsource"),
    "utm_campaign": ("utmcampaign",),
    "tags": ("tags", "tag", "labels"),
    "ip_address": ("ipaddress", "ip", "optinip", "confirmip", "signupip", "ipaddr"),
    # Only our own export has these.
    "notes": (),
    "consents": (),
    "earned_rewards": (),
}
ANY_IGNORED: Ignored = {
    UTM: ("utmmedium", "utmcontent", "utmterm", "utmchannel"),
    PHONE: ("phone", "phonenumber", "mobile"),
    LOCATION: ("city", "country", "countrycode", "region", "zip", "zipcode", "postcode", "state"),
    PAYMENT: ("stripecustomerid", "stripeconnectedcustomerid"),
    INTERNAL: ("id", "uuid", "subscriberid", "participantid", "userid"),
    WHICH_FILE: (plain(FILE_NAME),),
}

# The fields that the incumbent writes into the list of an email platform.
RH_FIELDS: FieldNames = {
    "code": ("rhcode",),
    "link": ("rhreflink",),
    "own_id": ("rhsubid",),
    "referrer": ("rhsharer",),
    # Since the last reset, which is what counts toward rewards. RH_GLOBREF is the count ever.
    "referrals_count": ("rhtotref", "rhglobref"),
    "referral_status": ("rhisref",),
    "rewards_given": ("rhlastreward",),
    "coupon": ("rhcoupon",),
    "utm_source": ("utmsource", "rhsource"),
}
RH_IGNORED: Ignored = {OTHER_DATES: ("rhlastref",)}

SPARKLOOP: FieldNames = {
    "email": ("email",),
    "name": ("name",),
    "created_at": ("registrationdate",),
    "ip_address": ("ipaddress",),
    "referrer": ("referrer",),
    "utm_source": ("source",),
}

REFERRALHERO: FieldNames = {
    "created_at": ("date",),
    "referrals_count": ("referrals",),
    "referrer": ("referrer",),
}
REFERRALHERO_IGNORED: Ignored = {INTERNAL: ("domain",)}

VIRAL_LOOPS: FieldNames = {
    "name": ("firstname", "name"),
    "own_id": ("id",),
    "referrer": ("referrerid", "referrer"),
    "referrals_count": ("referralcount",),
    "code": ("referralcode",),
}

KICKOFFLABS: FieldNames = {
    "code": ("socialid",),
    "link": ("socialurl",),
    # What `parent_id` names is their ID or their code.
    "own_id": ("id", "leadid", "socialid"),
    "referrer": ("parentid", "parentsocialid", "parentemail"),
    "referrals_count": ("referrals", "verifiedleads"),
    "unsubscribed": ("optedout",),
    "created_at": ("when", "createdat"),
}
KICKOFFLABS_IGNORED: Ignored = {FIGURES: ("fraudscore", "score", "rank", "points")}

GROWSURF: FieldNames = {
    "code": ("id",),
    "own_id": ("id",),
    "link": ("shareurl",),
    "referrer": ("referredby", "referrer", "referrerid", "referreremail"),
    "referrals_count": ("referralcount",),
    "referral_status": ("referralstatus",),
}
GROWSURF_IGNORED: Ignored = {
    FIGURES: (
        *("monthlyreferralcount", "rank", "monthlyrank", "impressioncount", "invitecount"),
        *("iswinner", "fraudriskscore", "sharecount"),
    ),
    INTERNAL: ("fingerprint", "referralsource", "isnew", "language", "fraudreasoncode"),
}

BEEHIIV: FieldNames = {
    "code": ("referralcode",),
    # Subscribers exported from Substack already signed up there.
    "created_at": ("createdat", "created", "subscriptiondatesubstack"),
    "unsubscribed": ("unsubscribedat",),
}
BEEHIIV_IGNORED: Ignored = {
    PAID: ("tier", "freetier", "premiumtier", "subscriptiontier"),
    WEBSITE: ("referringsite",),
}

SUBSTACK: FieldNames = {
    "created_at": ("createdat",),
    "unsubscribed": ("emaildisabled",),
}
SUBSTACK_IGNORED: Ignored = {
    PAID: ("activesubscription", "expiry", "plan", "type", "firstpaymentat"),
    INTERNAL: ("preferdigests",),
}

GHOST: FieldNames = {
    "subscribed": ("subscribedtoemails",),
    "unsubscribed": ("deletedat",),
    "tags": ("labels",),
}
GHOST_IGNORED: Ignored = {
    PAID: ("complimentaryplan", "tiers", "products", "giftid"),
}

MAILCHIMP: FieldNames = {
    "email": ("emailaddress", "email"),
    "name": ("firstname", "name"),
    "status": (plain(STATUS_BY_FILE), "status"),
    # A list with a single opt-in has only CONFIRM_TIME filled in.
    "created_at": ("confirmtime", "optintime"),
    "unsubscribed": ("unsubtime", "cleantime"),
    "ip_address": ("optinip", "confirmip"),
}
MAILCHIMP_IGNORED: Ignored = {
    FIGURES: ("memberrating",),
    LOCATION: (
        *("latitude", "longitude", "gmtoff", "dstoff", "timezone", "cc", "region", "address"),
    ),
    OTHER_DATES: ("lastchanged",),
    INTERNAL: (
        *("leid", "euid", "unsubcampaigntitle", "unsubcampaignid", "cleancampaigntitle"),
        *("cleancampaignid", "emailtype"),
    ),
}

KIT: FieldNames = {
    "email": ("emailaddress", "email"),
    "name": ("firstname",),
    "status": ("state", "status"),
}
KIT_IGNORED: Ignored = {
    WEBSITE: ("referrer", "referrerurl", "attributionreferrer"),
    INTERNAL: ("sourcetype", "sourcename", "sourcemechanism", "sourcemechanismid"),
}

HONEYGUIDE: FieldNames = {
    "ref_code": ("refcode",),
    "link": ("referrallink",),
    "referrer_code": ("referrercode",),
    "referral_status": ("referralstatus",),
    "referrals_count": ("referralsverified",),
    "notes": ("notes",),
    "consents": ("consents",),
    "earned_rewards": ("earnedrewards",),
}
HONEYGUIDE_IGNORED: Ignored = {
    OURS: ("referralspending",),
    INTERNAL: ("uuid",),
}
