"""Which receivers may be called, decided from text alone. DISGUISES all lead to this machine or
into its network.
"""

import pytest

from honeyguide.events.addresses import OutboundPolicy, check_url
from honeyguide.kernel.errors import Invalid

STRICT = OutboundPolicy.for_base_url("https://hg.example.com")
LAX = OutboundPolicy.for_base_url("http://127.0.0.1:8000")

DISGUISES = [
    "127.0.0.1",
    "127.0.0.2",
    "127.1",
    "127.0.1",
    "0",
    "0.0.0.0",
    "0x0",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "0x7f.1",
    "0x7F.0x0.0x0.0x1",
    "0x7f.0.0.1",
    "127.0x0.1",
    "00000177.1",
    "127.0.0.1.",
    "127.0.0.1..",
    "2130706433.",
    "１２７.０.０.１",
    "①②⑦.0.0.1",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "２１３０７０６４３３",
    "0ｘ7f.1",
    "%31%32%37.0.0.1",
    "127%2e0.0.1",
    "127.0.0.%31",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "localhost..",
    "ⓛocalhost",
    "ｌｏｃａｌｈｏｓｔ",
    "a.localhost",
    "hooks.localhost.",
    "metadata.google.internal",
    "printer.local",
    "router.lan",
    "intranet",
    "db",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001::7f00:1]",
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "[ff02::1]",
    "169.254.169.254",
    "2852039166",
    "[::ffff:169.254.169.254]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "192.0.0.192",
    "168.63.129.16",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "8.8.8.8",
    "134744072",
    "[2606:4700::1111]",
]


def refused(url, policy=STRICT):
    with pytest.raises(Invalid) as caught:
        check_url(url, policy)
    assert caught.value.param == "url" and caught.value.code == "invalid_url"
    return caught.value.message


@pytest.mark.parametrize("host", DISGUISES)
def test_an_address_in_any_disguise_is_refused_at_create(host):
    refused(f"https://{host}/hook")
    refused(f"https://{host}:8443/hook")
    refused(f"HTTPS://{host}")


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com/x?y=1#z",
        "https://hooks.example.com",
        "https://HOOKS.Example.com:443/",
        "https://a.b:8443",
        "https://a.b:8000/",
        "https://bücher.example/é",
        "https://127.0.0.1.example.com/",
        "https://1.2.3.4.nip.example/",
        "https://a_b.example.com/%20",
        "https://0x7f.example.com",
        "https://not-there.invalid/",
        "https://xn--bcher-kva.example",
    ],
)
def test_a_public_name_is_taken_whether_or_not_it_resolves(url):
    check_url(url, STRICT)
    check_url(url, LAX)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.example.com",
        "//hooks.example.com",
        "/hook",
        "https:",
        "https://",
        "https:///x",
        "https:hooks.example.com",
        "https:/hooks.example.com",
        "ftp://a.b/",
        "file:///etc/passwd",
        "gopher://a.b/",
        "javascript:alert(1)",
        "unix:/x",
        "https://user@a.b/",
        "https://user:word@a.b/",
        "https://@a.b/",
        "https://:@a.b/",
        "https://a.b@127.0.0.1/",
        "https://a.b:0/",
        "https://a.b:65536/",
        "https://a.b:99999/",
        "https://a.b:x/",
        "https://a.b:/",
        "https://a.b:+443/",
        "https://a.b:８４４３/",
        "https://a.b:-1/",
        "https://a.b /",
        " https://a.b/",
        "https://a.b/\r\nHost: c.d",
        "https://a.b/\n",
        "https://a.b/\t",
        "https://a\t.b/",
        "https://a.b\\@c.d/",
        "https://a.b/\\x",
        "https://a.b/\x00",
        "https://a.b/\x7f",
        "https://a.b/\u2028",
        "https://a.b/\u00a0",
        "https://a\u00ad.b/",
        "https://a\u200b.b/",
        "https://a.b/\ud800",
        "https://[::1",
        "https://[x]/",
        "https://a%2eb/",
        "https://[fe80::1%25eth0]/",
        "https://a.b/" + "x" * 2037,
    ],
)
def test_what_is_no_plain_http_url_is_refused_under_every_policy(url):
    for policy in (STRICT, LAX):
        refused(url, policy)


def test_the_refusal_says_what_to_mend():
    for host in ("127.0.0.1", "[::1]", "0x7f.1", "8.8.8.8"):
        assert refused(f"https://{host}/") == "url must use a host name, not an IP address."
    assert refused("https://localhost/") == "url must use a public host name."
    assert refused("http://hooks.example.com/") == "url must start with https://."
    absolute = "url must be an absolute URL that starts with https://"
    assert refused("ftp://a.b/") == absolute + "."
    assert refused("ftp://a.b/", LAX) == absolute + " or http://."


def test_2048_characters_are_taken_and_one_more_is_not():
    check_url("https://a.b/" + "x" * 2036, STRICT)
    assert "2,048" in refused("https://a.b/" + "x" * 2037)


@pytest.mark.parametrize("port", [443, 4443, 9443, 8000, 8999])
def test_ports_of_https_receivers_are_accepted(port):
    check_url(f"https://hooks.example.com:{port}/", STRICT)


@pytest.mark.parametrize(
    "port",
    [
        21,
        22,
        23,
        25,
        80,
        110,
        445,
        465,
        587,
        2375,
        3306,
        4442,
        4444,
        5432,
        6379,
        7999,
        9000,
        9200,
        9442,
        9444,
        11211,
        27017,
        65535,
    ],
)
def test_ports_of_other_services_are_refused(port):
    assert "port" in refused(f"https://hooks.example.com:{port}/")
    check_url(f"https://hooks.example.com:{port}/", LAX)


@pytest.mark.parametrize(
    "host",
    ["a..b", ".a.b", "a.b.", "a.b..", "-.b!", "a,b.c", "a" * 64 + ".com", ".".join(["a" * 60] * 5)],
)
def test_what_is_no_host_name_is_refused(host):
    refused(f"https://{host}/")
