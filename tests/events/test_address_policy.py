"""Which addresses webhooks may be sent to: by the base URL, the allow list and the kind of
address.
"""

from ipaddress import ip_address

import pytest

from honeyguide.events.addresses import OutboundPolicy, check_url, is_public
from honeyguide.kernel.errors import Invalid
from tests.events.test_addresses import LAX, STRICT, refused


def test_the_base_url_decides():
    for base_url in (
        "http://localhost:8000",
        "http://127.0.0.1:8000",
        "http://127.8.8.8",
        "http://[::1]:8000",
        "https://localhost",
    ):
        assert OutboundPolicy.for_base_url(base_url) == LAX
    for base_url in (
        "https://hg.example.com",
        "http://10.0.0.5:8000",
        "http://0.0.0.0:8000",
        "https://localhost.example.com",
    ):
        assert OutboundPolicy.for_base_url(base_url) == STRICT
    assert "https" in refused("http://hooks.example.com/")
    for url in (
        "http://127.0.0.1:9000/x",
        "http://localhost:22/",
        "https://[::1]:1/",
        "http://receiver/",
        "http://10.0.0.1/",
    ):
        check_url(url, LAX)


def test_on_loopback_only_loopback_and_public_addresses_may_be_dialled():
    for address in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "8.8.8.8"):
        assert LAX.permits(address)
    for address in (
        "10.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "192.168.0.1",
        "no address",
        "",
    ):
        assert not LAX.permits(address)


def test_the_allow_list_opens_its_networks_and_no_others():
    policy = OutboundPolicy.for_base_url("https://hg.example.com", ["10.1.9.9/16", " fd00:1::/32 "])
    for url in (
        "https://10.1.2.3/",
        "https://10.1.2.3:9999/",
        "https://[fd00:1::5]:3000/",
        "https://hooks.internal:3000/",
        "https://db/",
        "https://printer.local/",
        "https://receiver/",
    ):
        check_url(url, policy)
    for url in (
        "https://10.2.0.1/",
        "http://10.1.2.3/",
        "https://0x0a010203/",
        "https://localhost/",
        "https://a.localhost/",
        "https://127.0.0.1/",
        "https://8.8.8.8/",
        "https://[fd00:2::5]/",
        "https://hooks.example.com:22/",
    ):
        refused(url, policy)
    assert (
        policy.permits("10.1.255.255")
        and policy.permits("::ffff:10.1.0.1")
        and policy.permits("fd00:1::1")
    )
    assert not any(map(policy.permits, ["10.2.0.1", "127.0.0.1", "fd00:2::1", "64:ff9b::10.1.0.1"]))


def test_localhost_is_taken_when_the_allow_list_covers_it():
    check_url(
        "https://localhost:3000/",
        OutboundPolicy.for_base_url("https://hg.example.com", ["127.0.0.0/8"]),
    )
    check_url(
        "https://a.localhost/", OutboundPolicy.for_base_url("https://hg.example.com", ["::1"])
    )


def test_a_setting_that_is_no_network_says_so():
    with pytest.raises(
        Invalid, match=r"must list IP ranges such as 10\.0\.0\.0/8, not '10\.0\.0\.0/33'"
    ):
        OutboundPolicy.for_base_url("https://hg.example.com", ["10.0.0.0/33"])


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.255.0.1",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "100.100.100.200",
        "127.0.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.0.9",
        "192.0.0.192",
        "192.0.2.1",
        "192.31.196.1",
        "192.52.193.1",
        "192.88.99.1",
        "192.168.0.1",
        "192.175.48.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:10::1",
        "2001:1ff::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "3fff::1",
        "3fff:fff::1",
        "5f00::1",
        "4000::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "2606:4700::1111%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_special_addresses_are_not_public(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "192.167.1.1",
        "198.17.0.1",
        "198.20.0.1",
        "223.255.255.255",
        "::ffff:8.8.8.8",
        "2606:4700::1111",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2003::1",
        "2a00::1",
        "3ffe::1",
    ],
)
def test_ordinary_addresses_are_public(address):
    assert is_public(ip_address(address))
